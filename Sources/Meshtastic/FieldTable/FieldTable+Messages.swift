// Written by Tools/generate/field-table, which says how to read it.

extension FieldTable {
    /// All messages with their fields, as packed text.
    static let packedMessages = """
        >ChannelSettings 1:channel_num:u 2:psk:y 3:name:t 4:id:x 5:uplink_enabled:b 6:downlink_enabled:b
        7:module_settings:@ModuleSettings:? 8:use_aead:b >ModuleSettings 1:position_precision:u 2:is_muted:b >Channel 1:index:i
        2:settings:@ChannelSettings:? 3:role:#Channel.Role >DeviceUIConfig 1:version:u 2:screen_brightness:u 3:screen_timeout:u
        4:screen_lock:b 5:settings_lock:b 6:pin_code:u 7:theme:#Theme 8:alert_enabled:b 9:banner_enabled:b 10:ring_tone_id:u
        11:language:#Language 12:node_filter:@NodeFilter:? 13:node_highlight:@NodeHighlight:? 14:calibration_data:y
        15:map_data:@Map:? 16:compass_mode:#CompassMode 17:screen_rgb_color:u 18:is_clockface_analog:b
        19:gps_format:#DeviceUIConfig.GpsCoordinateFormat >NodeFilter 1:unknown_switch:b 2:offline_switch:b
        3:public_key_switch:b 4:hops_away:i 5:position_switch:b 6:node_name:t 7:channel:i >NodeHighlight 1:chat_switch:b
        2:position_switch:b 3:telemetry_switch:b 4:iaq_switch:b 5:node_name:t >GeoPoint 1:zoom:i 2:latitude:i 3:longitude:i >Map
        1:home:@GeoPoint:? 2:style:t 3:follow_gps:b >Config:payload_variant 1:device:@Config.DeviceConfig:0
        2:position:@Config.PositionConfig:0 3:power:@Config.PowerConfig:0 4:network:@Config.NetworkConfig:0
        5:display:@Config.DisplayConfig:0 6:lora:@Config.LoRaConfig:0 7:bluetooth:@Config.BluetoothConfig:0
        8:security:@Config.SecurityConfig:0 9:sessionkey:@Config.SessionkeyConfig:0 10:device_ui:@DeviceUIConfig:0
        >Config.DeviceConfig 1:role:#Config.DeviceConfig.Role 2:serial_enabled:b 4:button_gpio:u 5:buzzer_gpio:u
        6:rebroadcast_mode:#Config.DeviceConfig.RebroadcastMode 7:node_info_broadcast_secs:u 8:double_tap_as_button_press:b
        9:is_managed:b 10:disable_triple_click:b 11:tzdef:t 12:led_heartbeat_disabled:b
        13:buzzer_mode:#Config.DeviceConfig.BuzzerMode >Config.PositionConfig 1:position_broadcast_secs:u
        2:position_broadcast_smart_enabled:b 3:fixed_position:b 4:gps_enabled:b 5:gps_update_interval:u 6:gps_attempt_time:u
        7:position_flags:u 8:rx_gpio:u 9:tx_gpio:u 10:broadcast_smart_minimum_distance:u
        11:broadcast_smart_minimum_interval_secs:u 12:gps_en_gpio:u 13:gps_mode:#Config.PositionConfig.GpsMode
        >Config.PowerConfig 1:is_power_saving:b 2:on_battery_shutdown_after_secs:u 3:adc_multiplier_override:f
        4:wait_bluetooth_secs:u 6:sds_secs:u 7:ls_secs:u 8:min_wake_secs:u 9:device_battery_ina_address:u 32:powermon_enables:U
        >Config.NetworkConfig 1:wifi_enabled:b 3:wifi_ssid:t 4:wifi_psk:t 5:ntp_server:t 6:eth_enabled:b
        7:address_mode:#Config.NetworkConfig.AddressMode 8:ipv4_config:@Config.NetworkConfig.IpV4Config:? 9:rsyslog_server:t
        10:enabled_protocols:u 11:ipv6_enabled:b >Config.NetworkConfig.IpV4Config 1:ip:x 2:gateway:x 3:subnet:x 4:dns:x
        >Config.DisplayConfig 1:screen_on_secs:u 2:gps_format:#Config.DisplayConfig.DeprecatedGpsCoordinateFormat
        3:auto_screen_carousel_secs:u 4:compass_north_top:b 5:flip_screen:b 6:units:#Config.DisplayConfig.DisplayUnits
        7:oled:#Config.DisplayConfig.OledType 8:displaymode:#Config.DisplayConfig.DisplayMode 9:heading_bold:b
        10:wake_on_tap_or_motion:b 11:compass_orientation:#Config.DisplayConfig.CompassOrientation 12:use_12h_clock:b
        13:use_long_node_name:b 14:enable_message_bubbles:b >Config.LoRaConfig 1:use_preset:b
        2:modem_preset:#Config.LoRaConfig.ModemPreset 3:bandwidth:u 4:spread_factor:u 5:coding_rate:u 6:frequency_offset:f
        7:region:#Config.LoRaConfig.RegionCode 8:hop_limit:u 9:tx_enabled:b 10:tx_power:i 11:channel_num:u
        12:override_duty_cycle:b 13:sx126x_rx_boosted_gain:b 14:override_frequency:f 15:pa_fan_disabled:b
        103:ignore_incoming:u:*% 104:ignore_mqtt:b 105:config_ok_to_mqtt:b 106:fem_lna_mode:#Config.LoRaConfig.FEM_LNA_Mode
        107:serial_hal_only:b >Config.BluetoothConfig 1:enabled:b 2:mode:#Config.BluetoothConfig.PairingMode 3:fixed_pin:u
        >Config.SecurityConfig 1:public_key:y 2:private_key:y 3:admin_key:y:* 4:is_managed:b 5:serial_enabled:b
        6:debug_log_api_enabled:b 8:admin_channel_enabled:b
        9:packet_signature_policy:#Config.SecurityConfig.PacketSignaturePolicy >Config.SessionkeyConfig >DeviceConnectionStatus
        1:wifi:@WifiConnectionStatus:? 2:ethernet:@EthernetConnectionStatus:? 3:bluetooth:@BluetoothConnectionStatus:?
        4:serial:@SerialConnectionStatus:? >WifiConnectionStatus 1:status:@NetworkConnectionStatus:? 2:ssid:t 3:rssi:i
        >EthernetConnectionStatus 1:status:@NetworkConnectionStatus:? >NetworkConnectionStatus 1:ip_address:x 2:is_connected:b
        3:is_mqtt_connected:b 4:is_syslog_connected:b >BluetoothConnectionStatus 1:pin:u 2:rssi:i 3:is_connected:b
        >SerialConnectionStatus 1:baud:u 2:is_connected:b >TAKPacket:payload_variant 1:is_compressed:b 2:contact:@Contact:?
        3:group:@Group:? 4:status:@Status:? 5:pli:@PLI:0 6:chat:@GeoChat:0 7:detail:y:0 >GeoChat 1:message:t 2:to:t:?
        3:to_callsign:t:? 4:receipt_for_uid:t 5:receipt_type:#GeoChat.ReceiptType 6:lang:t:? 7:room_id:t:?
        8:voice_profile_id:t:? >Group 1:role:#MemberRole 2:team:#Team >Status 1:battery:u >Contact 1:callsign:t
        2:device_callsign:t >PLI 1:latitude_i:s 2:longitude_i:s 3:altitude:i 4:speed:u 5:course:u >AircraftTrack 1:icao:t
        2:registration:t 3:flight:t 4:aircraft_type:t 5:squawk:u 6:category:t 7:rssi_x10:z 8:gps:b 9:cot_host_id:t >CotGeoPoint
        1:lat_delta_i:z 2:lon_delta_i:z >DrawnShape 1:kind:#DrawnShape.Kind 2:style:#DrawnShape.StyleMode 3:major_cm:u
        4:minor_cm:u 5:angle_deg:u 6:stroke_color:#Team 7:stroke_argb:x 8:stroke_weight_x10:u 9:fill_color:#Team 10:fill_argb:x
        11:labels_on:b 13:truncated:b 14:bullseye_distance_dm:u 15:bullseye_bearing_ref:u 16:bullseye_flags:u
        17:bullseye_uid_ref:t 18:vertex_lat_deltas:z:*% 19:vertex_lon_deltas:z:*% >Marker 1:kind:#Marker.Kind 2:color:#Team
        3:color_argb:x 4:readiness:b 5:parent_uid:t 6:parent_type:t 7:parent_callsign:t 8:iconset:t >RangeAndBearing
        1:anchor:@CotGeoPoint:? 2:anchor_uid:t 3:range_cm:u 4:bearing_cdeg:u 5:stroke_color:#Team 6:stroke_argb:x
        7:stroke_weight_x10:u >Route 1:method:#Route.Method 2:direction:#Route.Direction 3:prefix:t 4:stroke_weight_x10:u
        5:links:@Route.Link:* 6:truncated:b >Route.Link 1:point:@CotGeoPoint:? 2:uid:t 3:callsign:t 4:link_type:u >CasevacReport
        1:precedence:#CasevacReport.Precedence 2:equipment_flags:u 3:litter_patients:u 4:ambulatory_patients:u
        5:security:#CasevacReport.Security 6:hlz_marking:#CasevacReport.HlzMarking 7:zone_marker:t 8:us_military:u
        9:us_civilian:u 10:non_us_military:u 11:non_us_civilian:u 12:epw:u 13:child:u 14:terrain_flags:u 15:frequency:t
        16:title:t 17:medline_remarks:t 18:urgent_count:u 19:urgent_surgical_count:u 20:priority_count:u 21:routine_count:u
        22:convenience_count:u 23:equipment_detail:t 24:zone_protected_coord:t 25:terrain_slope_dir:t 26:terrain_other_detail:t
        27:marked_by:t 28:obstacles:t 29:winds_are_from:t 30:friendlies:t 31:enemy:t 32:hlz_remarks:t 33:zmist:@ZMistEntry:*
        >ZMistEntry 1:title:t 2:z:t 3:m:t 4:i:t 5:s:t 6:t:t >EmergencyAlert 1:type:#EmergencyAlert.Type 2:authoring_uid:t
        3:cancel_reference_uid:t >TaskRequest 1:task_type:t 2:target_uid:t 3:assignee_uid:t 4:priority:#TaskRequest.Priority
        5:status:#TaskRequest.Status 6:note:t >TAKEnvironment 1:temperature_c_x10:z 2:wind_direction_deg:u 3:wind_speed_cm_s:u
        >SensorFov 1:type:#SensorFov.SensorType 2:azimuth_deg:u 3:range_m:u:? 4:fov_horizontal_deg:u 5:fov_vertical_deg:u
        6:elevation_deg:z 7:roll_deg:z 8:model:t >TakTalkMessage 1:text:t 2:chatroom_id:t 3:lang:t 4:from_voice:b
        >TakTalkRoomData 1:sender_callsign:t 2:room_id:t 3:room_name:t 4:participants:t:* >Marti 1:dest_callsign:t:*
        >TAKPacketV2:payload_variant 1:cot_type_id:#CotType 2:how:#CotHow 3:callsign:t 4:team:#Team 5:role:#MemberRole
        6:latitude_i:s 7:longitude_i:s 8:altitude:z 9:speed:u 10:course:u 11:battery:u 12:geo_src:#GeoPointSource
        13:alt_src:#GeoPointSource 14:uid:t 15:device_callsign:t 16:stale_seconds:u 17:tak_version:t 18:tak_device:t
        19:tak_platform:t 20:tak_os:t 21:endpoint:t 22:phone:t 23:cot_type_str:t 24:remarks:t 25:environment:@TAKEnvironment:?
        26:sensor_fov:@SensorFov:? 29:marti:@Marti:? 31:chat:@GeoChat:0 32:aircraft:@AircraftTrack:0 33:raw_detail:y:0
        34:shape:@DrawnShape:0 35:marker:@Marker:0 36:rab:@RangeAndBearing:0 37:route:@Route:0 38:casevac:@CasevacReport:0
        39:emergency:@EmergencyAlert:0 40:task:@TaskRequest:0 41:taktalk:@TakTalkMessage:0 42:taktalk_room:@TakTalkRoomData:0
        >ModuleConfig:payload_variant 1:mqtt:@ModuleConfig.MQTTConfig:0 2:serial:@ModuleConfig.SerialConfig:0
        3:external_notification:@ModuleConfig.ExternalNotificationConfig:0 4:store_forward:@ModuleConfig.StoreForwardConfig:0
        5:range_test:@ModuleConfig.RangeTestConfig:0 6:telemetry:@ModuleConfig.TelemetryConfig:0
        7:canned_message:@ModuleConfig.CannedMessageConfig:0 8:audio:@ModuleConfig.AudioConfig:0
        9:remote_hardware:@ModuleConfig.RemoteHardwareConfig:0 10:neighbor_info:@ModuleConfig.NeighborInfoConfig:0
        11:ambient_lighting:@ModuleConfig.AmbientLightingConfig:0 12:detection_sensor:@ModuleConfig.DetectionSensorConfig:0
        13:paxcounter:@ModuleConfig.PaxcounterConfig:0 14:statusmessage:@ModuleConfig.StatusMessageConfig:0
        15:traffic_management:@ModuleConfig.TrafficManagementConfig:0 16:tak:@ModuleConfig.TAKConfig:0
        17:mesh_beacon:@ModuleConfig.MeshBeaconConfig:0 >ModuleConfig.MQTTConfig 1:enabled:b 2:address:t 3:username:t
        4:password:t 5:encryption_enabled:b 6:json_enabled:b 7:tls_enabled:b 8:root:t 9:proxy_to_client_enabled:b
        10:map_reporting_enabled:b 11:map_report_settings:@ModuleConfig.MapReportSettings:? >ModuleConfig.MapReportSettings
        1:publish_interval_secs:u 2:position_precision:u 3:should_report_location:b >ModuleConfig.RemoteHardwareConfig
        1:enabled:b 2:allow_undefined_pin_access:b 3:available_pins:@RemoteHardwarePin:* >ModuleConfig.NeighborInfoConfig
        1:enabled:b 2:update_interval:u 3:transmit_over_lora:b >ModuleConfig.DetectionSensorConfig 1:enabled:b
        2:minimum_broadcast_secs:u 3:state_broadcast_secs:u 4:send_bell:b 5:name:t 6:monitor_pin:u
        7:detection_trigger_type:#ModuleConfig.DetectionSensorConfig.TriggerType 8:use_pullup:b >ModuleConfig.AudioConfig
        1:codec2_enabled:b 2:ptt_pin:u 3:bitrate:#ModuleConfig.AudioConfig.Audio_Baud 4:i2s_ws:u 5:i2s_sd:u 6:i2s_din:u
        7:i2s_sck:u >ModuleConfig.PaxcounterConfig 1:enabled:b 2:paxcounter_update_interval:u 3:wifi_threshold:i
        4:ble_threshold:i >ModuleConfig.TrafficManagementConfig 4:position_min_interval_secs:u
        6:nodeinfo_direct_response_max_hops:u 8:rate_limit_window_secs:u 9:rate_limit_max_packets:u
        11:unknown_packet_threshold:u >ModuleConfig.SerialConfig 1:enabled:b 2:echo:b 3:rxd:u 4:txd:u
        5:baud:#ModuleConfig.SerialConfig.Serial_Baud 6:timeout:u 7:mode:#ModuleConfig.SerialConfig.Serial_Mode
        8:override_console_serial_port:b >ModuleConfig.ExternalNotificationConfig 1:enabled:b 2:output_ms:u 3:output:u
        4:active:b 5:alert_message:b 6:alert_bell:b 7:use_pwm:b 8:output_vibra:u 9:output_buzzer:u 10:alert_message_vibra:b
        11:alert_message_buzzer:b 12:alert_bell_vibra:b 13:alert_bell_buzzer:b 14:nag_timeout:u 15:use_i2s_as_buzzer:b
        >ModuleConfig.StoreForwardConfig 1:enabled:b 2:heartbeat:b 3:records:u 4:history_return_max:u 5:history_return_window:u
        6:is_server:b >ModuleConfig.RangeTestConfig 1:enabled:b 2:sender:u 3:save:b 4:clear_on_reboot:b
        >ModuleConfig.TelemetryConfig 1:device_update_interval:u 2:environment_update_interval:u
        3:environment_measurement_enabled:b 4:environment_screen_enabled:b 5:environment_display_fahrenheit:b
        6:air_quality_enabled:b 7:air_quality_interval:u 8:power_measurement_enabled:b 9:power_update_interval:u
        10:power_screen_enabled:b 11:health_measurement_enabled:b 12:health_update_interval:u 13:health_screen_enabled:b
        14:device_telemetry_enabled:b 15:air_quality_screen_enabled:b >ModuleConfig.CannedMessageConfig 1:rotary1_enabled:b
        2:inputbroker_pin_a:u 3:inputbroker_pin_b:u 4:inputbroker_pin_press:u
        5:inputbroker_event_cw:#ModuleConfig.CannedMessageConfig.InputEventChar
        6:inputbroker_event_ccw:#ModuleConfig.CannedMessageConfig.InputEventChar
        7:inputbroker_event_press:#ModuleConfig.CannedMessageConfig.InputEventChar 8:updown1_enabled:b 9:enabled:b
        10:allow_input_source:t 11:send_bell:b >ModuleConfig.AmbientLightingConfig 1:led_state:b 2:current:u 3:red:u 4:green:u
        5:blue:u >ModuleConfig.StatusMessageConfig 1:node_status:t >ModuleConfig.MeshBeaconConfig 1:flags:u
        2:broadcast_offer_frequency_slot:u:? 3:broadcast_send_as_node:u 4:broadcast_message:t
        5:broadcast_offer_channel:@ChannelSettings:? 6:broadcast_offer_region:#Config.LoRaConfig.RegionCode
        7:broadcast_offer_preset:#Config.LoRaConfig.ModemPreset:? 8:broadcast_on_channel:@ChannelSettings:?
        9:broadcast_on_region:#Config.LoRaConfig.RegionCode 10:broadcast_on_preset:#Config.LoRaConfig.ModemPreset:?
        11:broadcast_interval_secs:u 13:broadcast_targets:@ModuleConfig.MeshBeaconConfig.BroadcastTarget:*
        >ModuleConfig.MeshBeaconConfig.BroadcastTarget 1:preset:#Config.LoRaConfig.ModemPreset:?
        2:region:#Config.LoRaConfig.RegionCode 4:channel_index:u:? 5:frequency_slot:u:? >ModuleConfig.TAKConfig 1:team:#Team
        2:role:#MemberRole >RemoteHardwarePin 1:gpio_pin:u 2:name:t 3:type:#RemoteHardwarePinType >DeviceMetrics
        1:battery_level:u:? 2:voltage:f:? 3:channel_utilization:f:? 4:air_util_tx:f:? 5:uptime_seconds:u:? >EnvironmentMetrics
        1:temperature:f:? 2:relative_humidity:f:? 3:barometric_pressure:f:? 4:gas_resistance:f:? 5:voltage:f:? 6:current:f:?
        7:iaq:u:? 8:distance:f:? 9:lux:f:? 10:white_lux:f:? 11:ir_lux:f:? 12:uv_lux:f:? 13:wind_direction:u:? 14:wind_speed:f:?
        15:weight:f:? 16:wind_gust:f:? 17:wind_lull:f:? 18:radiation:f:? 19:rainfall_1h:f:? 20:rainfall_24h:f:?
        21:soil_moisture:u:? 22:soil_temperature:f:? 23:one_wire_temperature:f:*% 24:adc_voltage_ch0:f:? 25:adc_voltage_ch1:f:?
        26:adc_voltage_ch2:f:? 27:adc_voltage_ch3:f:? 28:adc_voltage_ch4:f:? 29:adc_voltage_ch5:f:? 30:adc_voltage_ch6:f:?
        31:adc_voltage_ch7:f:? 32:one_wire_temperature_ch0:f:? 33:one_wire_temperature_ch1:f:? 34:one_wire_temperature_ch2:f:?
        35:one_wire_temperature_ch3:f:? 36:one_wire_temperature_ch4:f:? 37:one_wire_temperature_ch5:f:?
        38:one_wire_temperature_ch6:f:? 39:one_wire_temperature_ch7:f:? 40:lightning_strike_count_1h:u:?
        41:lightning_distance_km:f:? >SoilWaterMetrics 1:soil_ph:f:? 2:ph:f:? 3:electrical_conductivity:f:? 4:salinity:f:?
        5:nitrogen:f:? 6:phosphorus:f:? 7:potassium:f:? 8:dissolved_oxygen:f:? 9:orp:f:? 10:chemical_oxygen_demand:f:?
        11:turbidity:f:? 12:nitrate:f:? 13:ammonium:f:? 14:biochemical_oxygen_demand:f:? 15:solar_irradiance:f:? >PowerMetrics
        1:ch1_voltage:f:? 2:ch1_current:f:? 3:ch2_voltage:f:? 4:ch2_current:f:? 5:ch3_voltage:f:? 6:ch3_current:f:?
        7:ch4_voltage:f:? 8:ch4_current:f:? 9:ch5_voltage:f:? 10:ch5_current:f:? 11:ch6_voltage:f:? 12:ch6_current:f:?
        13:ch7_voltage:f:? 14:ch7_current:f:? 15:ch8_voltage:f:? 16:ch8_current:f:? >AirQualityMetrics 1:pm10_standard:u:?
        2:pm25_standard:u:? 3:pm100_standard:u:? 4:pm10_environmental:u:? 5:pm25_environmental:u:? 6:pm100_environmental:u:?
        7:particles_03um:u:? 8:particles_05um:u:? 9:particles_10um:u:? 10:particles_25um:u:? 11:particles_50um:u:?
        12:particles_100um:u:? 13:co2:u:? 14:co2_temperature:f:? 15:co2_humidity:f:? 16:form_formaldehyde:f:?
        17:form_humidity:f:? 18:form_temperature:f:? 19:pm40_standard:u:? 20:particles_40um:u:? 21:pm_temperature:f:?
        22:pm_humidity:f:? 23:pm_voc_idx:f:? 24:pm_nox_idx:f:? 25:particles_tps:f:? 26:pm_status_flags:u:? >LocalStats
        1:uptime_seconds:u 2:channel_utilization:f 3:air_util_tx:f 4:num_packets_tx:u 5:num_packets_rx:u 6:num_packets_rx_bad:u
        7:num_online_nodes:u 8:num_total_nodes:u 9:num_rx_dupe:u 10:num_tx_relay:u 11:num_tx_relay_canceled:u
        12:heap_total_bytes:u 13:heap_free_bytes:u 14:num_tx_dropped:u 15:noise_floor:i >TrafficManagementStats
        1:packets_inspected:u 2:position_dedup_drops:u 3:nodeinfo_cache_hits:u 4:rate_limit_drops:u 5:unknown_packet_drops:u
        6:hop_exhausted_packets:u 7:router_hops_preserved:u >HealthMetrics 1:heart_bpm:u:? 2:spO2:u:? 3:temperature:f:?
        >HostMetrics 1:uptime_seconds:u 2:freemem_bytes:U 3:diskfree1_bytes:U 4:diskfree2_bytes:U:? 5:diskfree3_bytes:U:?
        6:load1:u 7:load5:u 8:load15:u 9:user_string:t:? >Telemetry:variant 1:time:x 2:device_metrics:@DeviceMetrics:0
        3:environment_metrics:@EnvironmentMetrics:0 4:air_quality_metrics:@AirQualityMetrics:0 5:power_metrics:@PowerMetrics:0
        6:local_stats:@LocalStats:0 7:health_metrics:@HealthMetrics:0 8:host_metrics:@HostMetrics:0
        9:traffic_management_stats:@TrafficManagementStats:0 11:soil_water_metrics:@SoilWaterMetrics:0 >Nau7802Config
        1:zeroOffset:i 2:calibrationFactor:f >AS3935State 1:tuning_cap_pf:u >SEN5XState 1:last_cleaning_time:u
        2:last_cleaning_valid:b 3:one_shot_mode:b 4:voc_state_time:u:? 5:voc_state_valid:b:? 6:voc_state_array:X:? >SEN6XState
        1:last_cleaning_time:u 2:last_cleaning_valid:b 3:one_shot_mode:b 4:voc_state_time:u:? 5:voc_state_valid:b:?
        6:voc_state_array:X:? >XModem 1:control:#XModem.Control 2:seq:u 3:crc16:u 4:buffer:y >Position 1:latitude_i:s:?
        2:longitude_i:s:? 3:altitude:i:? 4:time:x 5:location_source:#Position.LocSource 6:altitude_source:#Position.AltSource
        7:timestamp:x 8:timestamp_millis_adjust:i 9:altitude_hae:z:? 10:altitude_geoidal_separation:z:? 11:PDOP:u 12:HDOP:u
        13:VDOP:u 14:gps_accuracy:u 15:ground_speed:u:? 16:ground_track:u:? 17:fix_quality:u 18:fix_type:u 19:sats_in_view:u
        20:sensor_id:u 21:next_update:u 22:seq_number:u 23:precision_bits:u >User 1:id:t 2:long_name:t 3:short_name:t
        4:macaddr:y 5:hw_model:#HardwareModel 6:is_licensed:b 7:role:#Config.DeviceConfig.Role 8:public_key:y
        9:is_unmessagable:b:? >RouteDiscovery 1:route:x:*% 2:snr_towards:i:*% 3:route_back:x:*% 4:snr_back:i:*% >Routing:variant
        1:route_request:@RouteDiscovery:0 2:route_reply:@RouteDiscovery:0 3:error_reason:#Routing.Error:0 4:ack_proof:y >Data
        1:portnum:#PortNum 2:payload:y 3:want_response:b 4:dest:x 5:source:x 6:request_id:x 7:reply_id:x 8:emoji:x
        9:bitfield:u:? 10:xeddsa_signature:y >KeyVerification 1:nonce:U 2:hash1:y 3:hash2:y >StoreForwardPlusPlus
        1:sfpp_message_type:#StoreForwardPlusPlus.SFPP_message_type 2:message_hash:y 3:commit_hash:y 4:root_hash:y 5:message:y
        6:encapsulated_id:u 7:encapsulated_to:u 8:encapsulated_from:u 9:encapsulated_rxtime:u 10:chain_count:u >RemoteShell
        1:op:#RemoteShell.OpCode 2:session_id:u 3:seq:u 4:ack_seq:u 5:payload:y 6:cols:u 7:rows:u 8:flags:u 9:last_tx_seq:u
        10:last_rx_seq:u >BoundingBox 1:longitude_west_i:s 2:latitude_south_i:s 3:longitude_east_i:s 4:latitude_north_i:s
        >Waypoint 1:id:u 2:latitude_i:s:? 3:longitude_i:s:? 4:expire:u 5:locked_to:u 6:name:t 7:description:t 8:icon:x
        9:geofence_radius:u 10:bounding_box:@BoundingBox:? 11:notify_on_enter:b 12:notify_on_exit:b 13:notify_favorites_only:b
        >StatusMessage 1:status:t >MqttClientProxyMessage:payload_variant 1:topic:t 2:data:y:0 3:text:t:0 4:retained:b
        >MeshPacket:payload_variant 1:from:x 2:to:x 3:channel:u 4:decoded:@Data:0 5:encrypted:y:0 6:id:x 7:rx_time:x:?
        8:rx_snr:f 9:hop_limit:u 10:want_ack:b 11:priority:#MeshPacket.Priority 12:rx_rssi:i:? 13:delayed:#MeshPacket.Delayed
        14:via_mqtt:b 15:hop_start:u 16:public_key:y 17:pki_encrypted:b 18:next_hop:u 19:relay_node:u 20:tx_after:u
        21:transport_mechanism:#MeshPacket.TransportMechanism 22:xeddsa_signed:b 23:ack_proof_status:#MeshPacket.AckProofStatus
        24:slot_parity:#MeshPacket.SlotParity >NodeInfo 1:num:u 2:user:@User:? 3:position:@Position:? 4:snr:f 5:last_heard:x
        6:device_metrics:@DeviceMetrics:? 7:channel:u 8:via_mqtt:b 9:hops_away:u:? 10:is_favorite:b 11:is_ignored:b
        12:is_key_manually_verified:b 13:is_muted:b 14:has_xeddsa_signed:b 15:heard_on_current_lora:b >MyNodeInfo
        1:my_node_num:u 8:reboot_count:u 11:min_app_version:u 12:device_id:y 13:pio_env:t 14:firmware_edition:#FirmwareEdition
        15:nodedb_count:u >LogRecord 1:message:t 2:time:x 3:source:t 4:level:#LogRecord.Level >QueueStatus 1:res:i 2:free:u
        3:maxlen:u 4:mesh_packet_id:u >FromRadio:payload_variant 1:id:u 2:packet:@MeshPacket:0 3:my_info:@MyNodeInfo:0
        4:node_info:@NodeInfo:0 5:config:@Config:0 6:log_record:@LogRecord:0 7:config_complete_id:u:0 8:rebooted:b:0
        9:moduleConfig:@ModuleConfig:0 10:channel:@Channel:0 11:queueStatus:@QueueStatus:0 12:xmodemPacket:@XModem:0
        13:metadata:@DeviceMetadata:0 14:mqttClientProxyMessage:@MqttClientProxyMessage:0 15:fileInfo:@FileInfo:0
        16:clientNotification:@ClientNotification:0 17:deviceuiConfig:@DeviceUIConfig:0 18:lockdown_status:@LockdownStatus:0
        19:region_presets:@LoRaRegionPresetMap:0 >LockdownStatus 1:state:#LockdownStatus.State 2:lock_reason:t
        3:boots_remaining:u 4:valid_until_epoch:u 5:backoff_seconds:u >ClientNotification:payload_variant 1:reply_id:u:?
        2:time:x 3:level:#LogRecord.Level 4:message:t 11:key_verification_number_inform:@KeyVerificationNumberInform:0
        12:key_verification_number_request:@KeyVerificationNumberRequest:0 13:key_verification_final:@KeyVerificationFinal:0
        14:duplicated_public_key:@DuplicatedPublicKey:0 15:low_entropy_key:@LowEntropyKey:0 >KeyVerificationNumberInform
        1:nonce:U 2:remote_longname:t 3:security_number:u >KeyVerificationNumberRequest 1:nonce:U 2:remote_longname:t
        >KeyVerificationFinal 1:nonce:U 2:remote_longname:t 3:isSender:b 4:verification_characters:t >DuplicatedPublicKey
        >LowEntropyKey >FileInfo 1:file_name:t 2:size_bytes:u >ToRadio:payload_variant 1:packet:@MeshPacket:0
        3:want_config_id:u:0 4:disconnect:b:0 5:xmodemPacket:@XModem:0 6:mqttClientProxyMessage:@MqttClientProxyMessage:0
        7:heartbeat:@Heartbeat:0 >Compressed 1:portnum:#PortNum 2:data:y >NeighborInfo 1:node_id:u 2:last_sent_by_id:u
        3:node_broadcast_interval_secs:u 4:neighbors:@Neighbor:* >Neighbor 1:node_id:u 2:snr:f 3:last_rx_time:x
        4:node_broadcast_interval_secs:u >DeviceMetadata 1:firmware_version:t 2:device_state_version:u 3:canShutdown:b
        4:hasWifi:b 5:hasBluetooth:b 6:hasEthernet:b 7:role:#Config.DeviceConfig.Role 8:position_flags:u
        9:hw_model:#HardwareModel 10:hasRemoteHardware:b 11:hasPKC:b 12:excluded_modules:u 14:has_xeddsa:b >LoRaPresetGroup
        1:presets:#Config.LoRaConfig.ModemPreset:*% 2:default_preset:#Config.LoRaConfig.ModemPreset 3:licensed_only:b
        >LoRaRegionPresets 1:region:#Config.LoRaConfig.RegionCode 2:group_index:u >LoRaRegionPresetMap
        1:groups:@LoRaPresetGroup:* 2:region_groups:@LoRaRegionPresets:* >Heartbeat 1:nonce:u >NodeRemoteHardwarePin
        1:node_num:u 2:pin:@RemoteHardwarePin:? >ChunkedPayload 1:payload_id:u 2:chunk_count:u 3:chunk_index:u 4:payload_chunk:y
        >resend_chunks 1:chunks:u:*% >ChunkedPayloadResponse:payload_variant 1:payload_id:u 2:request_transfer:b:0
        3:accept_transfer:b:0 4:resend_chunks:@resend_chunks:0 >AdminMessage:payload_variant 1:get_channel_request:u:0
        2:get_channel_response:@Channel:0 3:get_owner_request:b:0 4:get_owner_response:@User:0
        5:get_config_request:#AdminMessage.ConfigType:0 6:get_config_response:@Config:0
        7:get_module_config_request:#AdminMessage.ModuleConfigType:0 8:get_module_config_response:@ModuleConfig:0
        10:get_canned_message_module_messages_request:b:0 11:get_canned_message_module_messages_response:t:0
        12:get_device_metadata_request:b:0 13:get_device_metadata_response:@DeviceMetadata:0 14:get_ringtone_request:b:0
        15:get_ringtone_response:t:0 16:get_device_connection_status_request:b:0
        17:get_device_connection_status_response:@DeviceConnectionStatus:0 18:set_ham_mode:@HamParameters:0
        19:get_node_remote_hardware_pins_request:b:0 20:get_node_remote_hardware_pins_response:@NodeRemoteHardwarePinsResponse:0
        21:enter_dfu_mode_request:b:0 22:delete_file_request:t:0 23:set_scale:u:0
        24:backup_preferences:#AdminMessage.BackupLocation:0 25:restore_preferences:#AdminMessage.BackupLocation:0
        26:remove_backup_preferences:#AdminMessage.BackupLocation:0 27:send_input_event:@AdminMessage.InputEvent:0
        32:set_owner:@User:0 33:set_channel:@Channel:0 34:set_config:@Config:0 35:set_module_config:@ModuleConfig:0
        36:set_canned_message_module_messages:t:0 37:set_ringtone_message:t:0 38:remove_by_nodenum:u:0 39:set_favorite_node:u:0
        40:remove_favorite_node:u:0 41:set_fixed_position:@Position:0 42:remove_fixed_position:b:0 43:set_time_only:x:0
        44:get_ui_config_request:b:0 45:get_ui_config_response:@DeviceUIConfig:0 46:store_ui_config:@DeviceUIConfig:0
        47:set_ignored_node:u:0 48:remove_ignored_node:u:0 49:toggle_muted_node:u:0 64:begin_edit_settings:b:0
        65:commit_edit_settings:b:0 66:add_contact:@SharedContact:0 67:key_verification:@KeyVerificationAdmin:0
        94:factory_reset_device:i:0 95:reboot_ota_seconds:i:0 96:exit_simulator:b:0 97:reboot_seconds:i:0
        98:shutdown_seconds:i:0 99:factory_reset_config:i:0 100:nodedb_reset:b:0 101:session_passkey:y
        102:ota_request:@AdminMessage.OTAEvent:0 103:sensor_config:@SensorConfig:0 104:lockdown_auth:@LockdownAuth:0
        >AdminMessage.InputEvent 1:event_code:u 2:kb_char:u 3:touch_x:u 4:touch_y:u >AdminMessage.OTAEvent
        1:reboot_ota_mode:#OTAMode 2:ota_hash:y >LockdownAuth 1:passphrase:y 2:boots_remaining:u 3:valid_until_epoch:u
        4:lock_now:b 5:max_session_seconds:u 6:disable:b >HamParameters 1:call_sign:t 2:tx_power:i 3:frequency:f 4:short_name:t
        5:long_name:t >NodeRemoteHardwarePinsResponse 1:node_remote_hardware_pins:@NodeRemoteHardwarePin:* >SharedContact
        1:node_num:u 2:user:@User:? 3:should_ignore:b 4:manually_verified:b >KeyVerificationAdmin
        1:message_type:#KeyVerificationAdmin.MessageType 2:remote_nodenum:u 3:nonce:U 4:security_number:u:? >SensorConfig
        1:scd4x_config:@SCD4X_config:? 2:sen5x_config:@SEN5X_config:? 3:scd30_config:@SCD30_config:?
        4:shtxx_config:@SHTXX_config:? 5:ds248x_config:@DS248X_config:? 6:sen6x_config:@SEN6X_config:?
        7:as3935_config:@AS3935_config:? >SCD4X_config 1:set_asc:b:? 2:set_target_co2_conc:u:? 3:set_temperature:f:?
        4:set_altitude:u:? 5:set_ambient_pressure:u:? 6:factory_reset:b:? 7:set_power_mode:b:? >SEN5X_config
        1:set_temperature:f:? 2:set_one_shot_mode:b:? 3:start_fan_cleaning:b:? >SEN6X_config 1:set_temperature:f:?
        2:set_one_shot_mode:b:? 3:start_fan_cleaning:b:? 4:set_asc:b:? 5:set_target_co2_conc:u:? 6:set_altitude:u:?
        7:set_ambient_pressure:u:? 8:factory_reset:b:? >SCD30_config 1:set_asc:b:? 2:set_target_co2_conc:u:?
        3:set_temperature:f:? 4:set_altitude:u:? 5:set_measurement_interval:u:? 6:soft_reset:b:? >SHTXX_config
        1:set_accuracy:u:? >DS248X_config 1:main_temperature_channel:u:? >AS3935_config 1:set_tuning_cap_pf:u:? >ChannelSet
        1:settings:@ChannelSettings:* 2:lora_config:@Config.LoRaConfig:? >CannedMessageModuleConfig 1:messages:t >LocalConfig
        1:device:@Config.DeviceConfig:? 2:position:@Config.PositionConfig:? 3:power:@Config.PowerConfig:?
        4:network:@Config.NetworkConfig:? 5:display:@Config.DisplayConfig:? 6:lora:@Config.LoRaConfig:?
        7:bluetooth:@Config.BluetoothConfig:? 8:version:u 9:security:@Config.SecurityConfig:? >LocalModuleConfig
        1:mqtt:@ModuleConfig.MQTTConfig:? 2:serial:@ModuleConfig.SerialConfig:?
        3:external_notification:@ModuleConfig.ExternalNotificationConfig:? 4:store_forward:@ModuleConfig.StoreForwardConfig:?
        5:range_test:@ModuleConfig.RangeTestConfig:? 6:telemetry:@ModuleConfig.TelemetryConfig:?
        7:canned_message:@ModuleConfig.CannedMessageConfig:? 8:version:u 9:audio:@ModuleConfig.AudioConfig:?
        10:remote_hardware:@ModuleConfig.RemoteHardwareConfig:? 11:neighbor_info:@ModuleConfig.NeighborInfoConfig:?
        12:ambient_lighting:@ModuleConfig.AmbientLightingConfig:? 13:detection_sensor:@ModuleConfig.DetectionSensorConfig:?
        14:paxcounter:@ModuleConfig.PaxcounterConfig:? 15:statusmessage:@ModuleConfig.StatusMessageConfig:?
        16:traffic_management:@ModuleConfig.TrafficManagementConfig:? 17:tak:@ModuleConfig.TAKConfig:?
        18:mesh_beacon:@ModuleConfig.MeshBeaconConfig:? >DeviceProfile 1:long_name:t:? 2:short_name:t:? 3:channel_url:t:?
        4:config:@LocalConfig:? 5:module_config:@LocalModuleConfig:? 6:fixed_position:@Position:? 7:ringtone:t:?
        8:canned_messages:t:? 9:is_unmessagable:b:? 10:is_licensed:b:? >PositionLite 1:latitude_i:s 2:longitude_i:s 3:altitude:i
        4:time:x 5:location_source:#Position.LocSource 6:precision_bits:u >UserLite 1:macaddr:y 2:long_name:t 3:short_name:t
        4:hw_model:#HardwareModel 5:is_licensed:b 6:role:#Config.DeviceConfig.Role 7:public_key:y 9:is_unmessagable:b:?
        >NodeInfoLite 1:num:u 4:snr:f 5:last_heard:x 7:channel:u 9:hops_away:u:? 12:next_hop:u 13:bitfield:u 14:long_name:t
        15:short_name:t 16:hw_model:#HardwareModel 17:role:#Config.DeviceConfig.Role 18:public_key:y 19:snr_q4:z >DeviceState
        2:my_node:@MyNodeInfo:? 3:owner:@User:? 5:receive_queue:@MeshPacket:* 7:rx_text_message:@MeshPacket:? 8:version:u
        9:no_save:b 11:did_gps_reset:b 12:rx_waypoint:@MeshPacket:? 13:node_remote_hardware_pins:@NodeRemoteHardwarePin:*
        >NodePositionEntry 1:num:u 2:position:@PositionLite:? >NodeTelemetryEntry 1:num:u 2:device_metrics:@DeviceMetrics:?
        >NodeEnvironmentEntry 1:num:u 2:environment_metrics:@EnvironmentMetrics:? >NodeStatusEntry 1:num:u
        2:status:@StatusMessage:? >NodeDatabase 1:version:u 2:nodes:@NodeInfoLite:* 3:positions:@NodePositionEntry:*
        4:telemetry:@NodeTelemetryEntry:* 5:status:@NodeStatusEntry:* 6:environment:@NodeEnvironmentEntry:* >ChannelFile
        1:channels:@Channel:* 2:version:u >BackupPreferences 1:version:u 2:timestamp:x 3:config:@LocalConfig:?
        4:module_config:@LocalModuleConfig:? 5:channels:@ChannelFile:? 6:owner:@User:? >NodeInfoLite_Legacy 1:num:u
        2:user:@UserLite:? 3:position:@PositionLite:? 4:snr:f 5:last_heard:x 6:device_metrics:@DeviceMetrics:? 7:channel:u
        8:via_mqtt:b 9:hops_away:u:? 10:is_favorite:b 11:is_ignored:b 12:next_hop:u 13:bitfield:u >NodeDatabase_Legacy
        1:version:u 2:nodes:@NodeInfoLite_Legacy:* >FileTransfer 1:operation:#FileOperation 2:filepath:t 3:filedata:y
        4:status:#FileStatus 5:message:t 6:offset:U 7:length:u 8:file_size:U >DirectoryListing 1:directory:t 2:filenames:t:*
        3:status:#FileStatus 4:message:t 5:offset:u 6:total_count:u >I2CTransaction 1:address:u 2:write_data:y 3:read_len:u
        >SdCardInfo 1:present:b 2:card_type:#SdCardInfo.CardType 3:fat_type:#SdCardInfo.FatType 4:card_size:U 5:used_bytes:U
        6:free_bytes:U 7:stats_valid:b 8:busy:b 9:unformatted:b >I2CResult 1:status:#I2CResult.Status 2:read_data:y
        >InterdeviceMessage:data 1:nmea:t:0 2:beep:u:0 3:i2c_transaction:@I2CTransaction:0 4:i2c_result:@I2CResult:0
        5:i2c_scan:b:0 6:i2c_scan_result:y:0 7:file_transfer:@FileTransfer:0 8:directory_listing:@DirectoryListing:0
        9:get_sd_info:b:0 10:sd_info:@SdCardInfo:0 11:ping:#InterdeviceVersion:0 12:pong:#InterdeviceVersion:0 13:nack:b:0
        14:sd_command:#SdCommand:0 15:id:u >MeshBeacon 1:message:t 2:offer_channel:@ChannelSettings:?
        3:offer_region:#Config.LoRaConfig.RegionCode 4:offer_preset:#Config.LoRaConfig.ModemPreset:? 5:offer_frequency_slot:u:?
        >ServiceEnvelope 1:packet:@MeshPacket:? 2:channel_id:t 3:gateway_id:t >MapReport 1:long_name:t 2:short_name:t
        3:role:#Config.DeviceConfig.Role 4:hw_model:#HardwareModel 5:firmware_version:t 6:region:#Config.LoRaConfig.RegionCode
        7:modem_preset:#Config.LoRaConfig.ModemPreset 8:has_default_channel:b 9:latitude_i:s 10:longitude_i:s 11:altitude:i
        12:position_precision:u 13:num_online_local_nodes:u 14:has_opted_report_location:b >Paxcount 1:wifi:u 2:ble:u 3:uptime:u
        >PowerMon >PowerStressMessage 1:cmd:#PowerStressMessage.Opcode 2:num_seconds:f >HardwareMessage
        1:type:#HardwareMessage.Type 2:gpio_mask:U 3:gpio_value:U >RTTTLConfig 1:ringtone:t >SerialHalCommand 1:transaction_id:u
        2:type:#SerialHalCommand.Type 3:pin:u 4:value:u 5:mode:u 6:data:y >SerialHalResponse 1:transaction_id:u
        2:result:#SerialHalResponse.Result 3:value:u 4:data:y 5:error:t >StoreAndForward:variant
        1:rr:#StoreAndForward.RequestResponse 2:stats:@StoreAndForward.Statistics:0 3:history:@StoreAndForward.History:0
        4:heartbeat:@StoreAndForward.Heartbeat:0 5:text:y:0 6:original_id:u >StoreAndForward.Statistics 1:messages_total:u
        2:messages_saved:u 3:messages_max:u 4:up_time:u 5:requests:u 6:requests_history:u 7:heartbeat:b 8:return_max:u
        9:return_window:u >StoreAndForward.History 1:history_messages:u 2:window:u 3:last_request:u >StoreAndForward.Heartbeat
        1:period:u 2:secondary:u >LoRaWANBridge:variant 1:uplink:@LoRaWANBridge.Uplink:0 2:downlink:@LoRaWANBridge.Downlink:0
        3:tx_result:@LoRaWANBridge.TxResult:0 4:chunk:@LoRaWANBridge.PayloadChunk:0 >LoRaWANBridge.Uplink 1:freq_hz:x 2:tmst:x
        3:rssi_x10:z 4:snr_x10:z 5:radio_params:u 6:payload:y 7:payload_id:u 8:chunk_count:u 9:fsk_bitrate:u
        >LoRaWANBridge.Downlink 1:freq_hz:x 2:tmst:x 3:radio_params:u 4:power_dbm:u 5:immediate:b 6:invert_polarity:b 7:no_crc:b
        8:may_defer:b 9:payload:y 10:payload_id:u 11:chunk_count:u 12:request_id:u >LoRaWANBridge.PayloadChunk 1:payload_id:u
        2:chunk_index:u 3:payload_chunk:y >LoRaWANBridge.TxResult 1:tmst:x 2:status:#LoRaWANBridge.TxResult.Status
        3:request_id:u >AS3935Config 1:tuning_cap_pf:u
        """
}
